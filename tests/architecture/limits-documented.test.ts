import * as ts from 'typescript';
import { configSchema } from '../../contracts/schemas/config';
import { parseSource, readProjectFile, tableRows } from './project';

const defaults = configSchema.parse({}) as Record<string, unknown>;
const rows = tableRows(readProjectFile('docs/limits.md')).map(([what = '', limit = '', where = '']) => ({
  what,
  limit: limit.replaceAll(',', ''),
  where,
}));

/** `config: a.b` names a key of the configuration. */
function configKey(where: string): string | null {
  return /^config: `([\w.]+)`/.exec(where)?.[1] ?? null;
}

/** `NAME` in `file.ts` names a constant. */
function constant(where: string): { name: string; file: string } | null {
  const [, name, file] = /^`(\w+)` in `([\w./-]+\.ts)`/.exec(where) ?? [];
  return name === undefined || file === undefined ? null : { name, file };
}

function defaultOf(key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], defaults);
}

/** The value of a constant that is a number, a product of numbers or a text; undefined for anything else. */
function valueOf(node: ts.Expression | undefined): number | string | undefined {
  if (node === undefined) return undefined;
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''));
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AsteriskToken) {
    return Number(valueOf(node.left)) * Number(valueOf(node.right));
  }
  return undefined;
}

function declared(file: string, name: string): { found: boolean; value: number | string | undefined } {
  let declaration: ts.VariableDeclaration | ts.PropertyAssignment | undefined;
  const visit = (node: ts.Node): void => {
    const isNamed = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node);
    if (isNamed && node.name.getText() === name) declaration ??= node;
    ts.forEachChild(node, visit);
  };
  visit(parseSource(file));
  return { found: declaration !== undefined, value: valueOf(declaration?.initializer) };
}

function mentions(limit: string, value: unknown): boolean {
  return new RegExp(`(?<![\\w.])${String(value).replaceAll('.', '\\.')}(?![\\w]|\\.\\d)`).test(limit);
}

describe('docs/limits.md', () => {
  it('says of every limit where it comes from', () => {
    expect(rows.length).toBeGreaterThan(40);
    const vague = rows.filter(({ where }) => configKey(where) === null && constant(where) === null);
    expect(vague.map(({ what }) => what)).toEqual([]);
  });

  it('gives every configuration key with its default', () => {
    const wrong = rows.flatMap(({ limit, where }) => {
      const key = configKey(where);
      return key === null || mentions(limit, defaultOf(key)) ? [] : [`${key}: ${String(defaultOf(key))}, not ${limit}`];
    });
    expect(wrong).toEqual([]);
  });

  it('gives every constant with its value', () => {
    const wrong = rows.flatMap(({ limit, where }) => {
      const named = constant(where);
      if (named === null) return [];
      const { found, value } = declared(named.file, named.name);
      if (!found) return [`${named.name} is not in ${named.file}`];
      return value === undefined || mentions(limit, value) ? [] : [`${named.name}: ${value}, not ${limit}`];
    });
    expect(wrong).toEqual([]);
  });
});
