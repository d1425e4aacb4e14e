import type { JsonSchema } from './components';
import type { OpenApiDocument } from './document';

/** The document as one page to read, without scripts. */
export function referencePage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = document.tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => (operation['tags'] as string[]).includes(name));
    return `<h2>${escape(name)}</h2>${own.map(operationSection).join('')}`;
  });
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escape(name)}"><summary>${escape(name)}</summary>${source(schema)}</details>`,
  );
  return page(
    document.info.title,
    `<p>${escape(document.info.description)}</p>${sections.join('')}<h2>Schemas</h2>${schemas.join('')}`,
  );
}

interface ListedOperation {
  path: string;
  method: string;
  operation: JsonSchema;
}

function operationSection({ path, method, operation }: ListedOperation): string {
  const title = `<code>${method.toUpperCase()} ${escape(path)}</code> ${escape(operation['summary'])}`;
  const description = operation['description'] === undefined ? '' : `<p>${escape(operation['description'])}</p>`;
  const body = operation['requestBody'] === undefined ? '' : `<h4>Body</h4>${source(operation['requestBody'])}`;
  const responses = Object.entries(operation['responses'] as Record<string, { description: string }>);
  const rows = responses.map(([status, { description: text }]) => `<li><b>${escape(status)}</b> ${escape(text)}</li>`);
  return (
    `<details id="${escape(operation['operationId'])}"><summary>${title}</summary>${description}` +
    `${parameterList(operation['parameters'] as Parameter[])}${body}<h4>Answers</h4><ul>${rows.join('')}</ul></details>`
  );
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
}

function parameterList(parameters: Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: place, required, description = '' }) =>
      `<li><code>${escape(name)}</code> (${escape(place)}${required ? '' : ', optional'}) ${escape(description)}</li>`,
  );
  return `<h4>Parameters</h4><ul>${rows.join('')}</ul>`;
}

function source(value: unknown): string {
  return `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'details{border-bottom:1px solid #8884;padding:.4rem 0}summary{cursor:pointer}pre{overflow:auto;font-size:13px}';

function page(title: string, body: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><h1>${escape(title)}</h1>${body}</body></html>`
  );
}

function escape(value: unknown): string {
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
