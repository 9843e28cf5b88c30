import { loadWhenUsed } from '../util/load-when-used';

// The service writes XML with xmlbuilder2. What it loads beside that, 44 modules, reads XML, YAML and URLs, or writes to a stream.
// This file is imported before xmlbuilder2.
loadWhenUsed('xmlbuilder2/lib/builder', './XMLBuilderCBImpl', './BuilderFunctionsCB');
loadWhenUsed(
  'xmlbuilder2/lib/builder/XMLBuilderImpl',
  '../readers',
  '@oozcitak/dom/lib/parser',
  '@oozcitak/url/lib/URLAlgorithm',
);
