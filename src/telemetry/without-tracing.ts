import { loadWhenUsed } from '../util/load-when-used';

// prom-client loads the 51 modules of OpenTelemetry's API for exemplars, which these metrics do not have. This file is imported
// before prom-client.
loadWhenUsed('prom-client/lib/metrics/processCpuTotal', '@opentelemetry/api');
