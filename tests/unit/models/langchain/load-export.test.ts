/** In a process of its own, as the product runs: the test runner loads ES modules in another way than Node does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformFileSync } from '@swc/core';
import type { ProjectOnDisk } from '../../../support/providers/package-on-disk';
import { createProject } from '../../../support/providers/package-on-disk';

const REPORT = `
const { problem, value } = require('./load-export.js').loadExport(JSON.parse(process.argv[2]));
process.stdout.write(JSON.stringify({ problem, name: value?.name }));
`;

let product: ProjectOnDisk;
let project: ProjectOnDisk;
beforeAll(() => {
  product = createProject();
  const source = join(process.cwd(), 'models', 'langchain', 'load-export.ts');
  const { code } = transformFileSync(source, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  writeFileSync(join(product.folder, 'load-export.js'), code);
  writeFileSync(join(product.folder, 'report.js'), REPORT);
});
afterAll(() => product.remove());
beforeEach(() => void (project = createProject()));
afterEach(() => project.remove());

/** What was found: the name of the class, or the problem. */
function load(
  packageName: string,
  { subpath = '', folders = [project.folder] } = {},
): { name?: string; problem?: string } {
  const options = JSON.stringify({ packageName, subpath, exported: 'Model', folders });
  const said = execFileSync(process.execPath, ['report.js', options], { cwd: product.folder, encoding: 'utf8' });
  return JSON.parse(said) as { name?: string; problem?: string };
}

describe('an export of a package', () => {
  it.each<[string, object, Record<string, string>, string?]>([
    ['of CommonJS', { main: 'index.js' }, { 'index.js': 'exports.Model = class Model {};' }],
    ['of CommonJS without a main entry', {}, { 'index.js': 'exports.Model = class Model {};' }],
    ['of ES modules', { type: 'module', main: 'index.js' }, { 'index.js': 'export class Model {}' }],
    [
      'that only imports can have',
      { type: 'module', exports: { '.': { types: './x.d.ts', import: './index.js' } } },
      { 'index.js': 'export class Model {}' },
    ],
    [
      'that only imports can have, said in other words',
      { exports: { import: { default: './index.mjs' } } },
      { 'index.mjs': 'export class Model {}' },
    ],
    [
      'below a path that only imports can have',
      { type: 'module', exports: { './chat': { import: './chat.js' } } },
      { 'chat.js': 'export class Model {}' },
      '/chat',
    ],
    [
      'below a path',
      { exports: { './chat/models': { require: './models.cjs', import: './models.js' } } },
      { 'models.cjs': 'exports.Model = class Model {};' },
      '/chat/models',
    ],
  ])('%s is found', (_, manifest, files, subpath = '') => {
    project.install('@own/chat', manifest, files);
    expect(load('@own/chat', { subpath }).name).toBe('Model');
  });

  it('is looked for in one folder after the other, and in the folders above each', () => {
    const inner = join(project.folder, 'packages', 'one');
    mkdirSync(inner, { recursive: true });
    project.install('own-chat', {}, { 'index.js': 'exports.Model = class Upper {};' });
    expect(load('own-chat', { folders: [inner] }).name).toBe('Upper');
    const second = createProject();
    try {
      expect(load('own-chat', { folders: [second.folder, project.folder] }).name).toBe('Upper');
      second.install('own-chat', {}, { 'index.js': 'exports.Model = class First {};' });
      expect(load('own-chat', { folders: [second.folder, project.folder] }).name).toBe('First');
    } finally {
      second.remove();
    }
  });

  it.each<[string, object, string, string]>([
    ['has no such export', {}, 'exports.Other = 1;', 'the package own-chat has no export Model'],
    ['is no object', {}, 'module.exports = null;', 'the package own-chat has no export Model'],
    ['throws', {}, 'throw new Error("with a secret of its own");', 'the package own-chat cannot be loaded'],
    ['is no program', {}, '}', 'the package own-chat cannot be loaded'],
    [
      'lacks a package itself',
      {},
      'require("@own/missing");',
      'the package own-chat needs @own/missing, which is not installed: npm install @own/missing',
    ],
    [
      'is an ES module that lacks a package itself',
      { type: 'module' },
      'import "@own/missing";',
      'the package own-chat needs @own/missing, which is not installed: npm install @own/missing',
    ],
    [
      'waits while it is loaded',
      { type: 'module' },
      'await 1; export class Model {}',
      'the package own-chat waits for something while it is loaded, which is not possible here',
    ],
    [
      'has no such entry',
      { exports: { './other': './index.js' } },
      '',
      'the package own-chat offers nothing under this name',
    ],
  ])('of a package that %s is refused with words that say so', (_, manifest, text, problem) => {
    project.install('own-chat', manifest, { 'index.js': text });
    expect(load('own-chat').problem).toBe(problem);
  });

  it('of a package that is not installed is refused with the command that installs it', () => {
    expect(load('@own/chat').problem).toBe('the package @own/chat is not installed: npm install @own/chat');
  });

  it('below a path that is not there is refused', () => {
    project.install('own-chat', {}, { 'index.js': '' });
    expect(load('own-chat', { subpath: '/none' }).problem).toBe(
      'the package own-chat/none offers nothing under this name',
    );
  });
});
