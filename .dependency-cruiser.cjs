/**
 * Which folder may import which: the table of ARCHITECTURE.md. A row lists what is allowed; `types` may be imported as
 * types only.
 */
const rows = {
  contracts: { may: [] },
  core: { may: ['contracts'] },
  config: { may: ['contracts', 'core'] },
  observability: { may: ['contracts'], types: ['config'] },
  temporal: { may: ['contracts', 'core'] },
  db: { may: ['contracts', 'core'], types: ['config', 'observability'] },
  models: { may: ['contracts', 'core', 'observability'], types: ['config'] },
  sandbox: { may: ['contracts', 'core'], types: ['config', 'observability'] },
  tools: { may: ['contracts', 'core', 'sandbox'], types: ['config', 'observability'] },
  activities: {
    may: ['contracts', 'core', 'db', 'models', 'tools', 'sandbox', 'temporal', 'observability'],
    types: ['config'],
  },
  workflows: { may: ['contracts', 'core'], types: ['activities'] },
  api: { may: ['contracts', 'core', 'config', 'observability', 'db', 'models', 'temporal'] },
};
const folders = [...Object.keys(rows), 'workers', 'scripts', 'tests', 'bench'];

const forbidden = Object.entries(rows).flatMap(([from, { may, types = [] }]) => {
  const never = folders.filter((folder) => folder !== from && !may.includes(folder) && !types.includes(folder));
  const rule = (name, to, extra) => ({
    name: `${from}-${name}`,
    severity: 'error',
    from: { path: `^${from}/` },
    to: { path: `^(${to.join('|')})/`, ...extra },
  });
  return [
    rule('layer', never, {}),
    ...(types.length > 0 ? [rule('types-only', types, { dependencyTypesNot: ['type-only'] })] : []),
  ];
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...forbidden,
    {
      name: 'workflows-without-schemas',
      comment: 'zod would be loaded into every workflow context',
      severity: 'error',
      from: { path: '^(workflows|core)/' },
      to: { path: '^contracts/schemas/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'not-to-dev-dependencies',
      severity: 'error',
      from: { pathNot: '^(tests|scripts|bench)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.cache|bench/build)/' },
  },
};
