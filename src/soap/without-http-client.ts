import { loadWhenUsed } from '../util/load-when-used';

// node-soap loads its HTTP client, with axios and 85 other modules, along with its WSDL class, which uses it only for a WSDL that
// imports others over HTTP. This file is imported before node-soap.
loadWhenUsed('soap/lib/wsdl', '../http');
