import { loadWhenUsed } from '../util/load-when-used';

// The service uses Express for its router, without an application. What Express loads beside it, 126 modules, takes longer than
// the router. This file is imported before Express.
loadWhenUsed('express/lib/express', './application', './request', './response', 'serve-static');
loadWhenUsed('body-parser', './lib/types/json', './lib/types/raw', './lib/types/text', './lib/types/urlencoded');
