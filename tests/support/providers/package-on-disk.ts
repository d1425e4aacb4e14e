/** Packages in a folder of their own, as `npm install` leaves them. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface ProjectOnDisk {
  readonly folder: string;
  /** Writes a package; `files` by their paths in it. */
  install(name: string, manifest: object, files: Readonly<Record<string, string>>): void;
  remove(): void;
}

/** `linked` are packages of this repository that the project has as well. */
export function createProject({ linked = [] }: { linked?: readonly string[] } = {}): ProjectOnDisk {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  for (const name of linked) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(process.cwd(), 'node_modules', name), target);
  }
  return {
    folder,
    install(name, manifest, files) {
      const home = join(folder, 'node_modules', name);
      const written = { 'package.json': JSON.stringify({ name, version: '1.0.0', ...manifest }), ...files };
      for (const [path, text] of Object.entries(written)) {
        mkdirSync(dirname(join(home, path)), { recursive: true });
        writeFileSync(join(home, path), text);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
