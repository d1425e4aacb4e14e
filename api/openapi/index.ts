/** The description of the API, for people and for tools. Makes it from the schemas; takes no part in serving requests. */
export { createDocumentationRouter } from './documentation-router';
export { createOpenApiDocument } from './document';
export type { OpenApiDocument } from './document';
