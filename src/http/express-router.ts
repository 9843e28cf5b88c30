import './express-parts';

export { Router } from 'express';
