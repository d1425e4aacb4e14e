/** The real processes of the product, and a small client, for end-to-end and durability tests. */
export { ask, createApiClient } from './client';
export type { Answer, ApiClient, Frame, ThreadValues } from './client';
export type { Part } from './part';
export { startProduct } from './product';
export type { Product, ProductOptions } from './product';
