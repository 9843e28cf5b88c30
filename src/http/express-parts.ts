import { loadWhenUsed } from '../lang/load-when-used';

// The service uses Express for its router, without an application. What Express loads beside it, 126 modules, takes longer than
// the router. This file is imported before Express.
for (const part of ['./application', './request', './response', 'serve-static']) {
  loadWhenUsed('express/lib/express', part);
}
for (const parser of ['json', 'raw', 'text', 'urlencoded']) loadWhenUsed('body-parser', `./lib/types/${parser}`);
