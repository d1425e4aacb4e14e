import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import * as ts from 'typescript';
import { ROOT, parseSource, placeOf, sourcesIn } from './project';

const BUILTINS = new Set(builtinModules);
const MAX_BUNDLE_BYTES = 2 * 1024 * 1024;
/** Packages that exist in the workflow sandbox. */
const WORKFLOW_PACKAGES = new Set(['@temporalio/workflow', '@temporalio/common']);

interface Import {
  module: string;
  place: string;
}

/** What a file loads when it runs: no type-only imports. */
function runtimeImports(path: string): Import[] {
  const source = parseSource(path);
  const found: Import[] = [];
  const note = (module: ts.Expression | undefined, node: ts.Node): void => {
    const text = module !== undefined && ts.isStringLiteral(module) ? module.text : '(not a literal)';
    found.push({ module: text, place: placeOf(source, node) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword) {
      note(node.moduleSpecifier, node);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && !node.isTypeOnly) {
      note(node.moduleSpecifier, node);
    } else if (ts.isCallExpression(node)) {
      const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
      if (isImport || node.expression.getText() === 'require') note(node.arguments[0], node);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function offenders(folders: string[], isForbidden: (module: string) => boolean): string[] {
  return sourcesIn(folders)
    .filter((path) => !path.startsWith('contracts/schemas/'))
    .flatMap((path) => runtimeImports(path))
    .filter(({ module }) => isForbidden(module))
    .map(({ module, place }) => `${place} loads ${module}`);
}

const isPackage = (module: string): boolean => !module.startsWith('.');

describe('code that runs in the workflow sandbox', () => {
  it('loads no module of Node', () => {
    const isBuiltin = (module: string): boolean => module.startsWith('node:') || BUILTINS.has(module);
    expect(offenders(['workflows', 'core', 'contracts'], isBuiltin)).toEqual([]);
  });

  it('loads no package but those of the workflow SDK', () => {
    expect(offenders(['core', 'contracts'], isPackage)).toEqual([]);
    expect(offenders(['workflows'], (module) => isPackage(module) && !WORKFLOW_PACKAGES.has(module))).toEqual([]);
  });

  it('loads no schema, because every workflow would carry the validation library with it', () => {
    expect(offenders(['workflows', 'core'], (module) => module.includes('schemas'))).toEqual([]);
  });

  it('bundles without the validation library and stays small', async () => {
    const ignore = (): void => undefined;
    const warnings: string[] = [];
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(ROOT, 'workflows', 'index.ts'),
      logger: {
        log: ignore,
        trace: ignore,
        debug: ignore,
        info: ignore,
        warn: (message) => warnings.push(message),
        error: (message) => warnings.push(message),
      },
    });
    expect(warnings).toEqual([]);
    expect(code).toContain('./workflows/agent-run.ts');
    const modules = code.match(/node_modules\/zod\/|contracts\/schemas\//g) ?? [];
    expect(modules).toEqual([]);
    // The source map is part of the text, and not of what a workflow context loads.
    const loaded = code.split('//# sourceMappingURL=')[0] ?? '';
    expect(Buffer.byteLength(loaded)).toBeLessThan(MAX_BUNDLE_BYTES);
  });
});
