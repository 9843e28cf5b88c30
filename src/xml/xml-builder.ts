import './xml-builder-parts';

export { create } from 'xmlbuilder2';
