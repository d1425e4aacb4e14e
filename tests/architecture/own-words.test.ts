import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, projectFiles, readProjectFile } from './project';

interface Finding {
  what: string;
  needle: RegExp;
  /** Where the text means something else. */
  except?: RegExp;
}

/** Put together here, so that this file does not contain what it looks for. */
function word(...parts: string[]): string {
  return parts.join('').replaceAll('.', '\\.');
}

const host = (...parts: string[]): Finding => ({
  what: 'a package registry',
  needle: new RegExp(`\\b${word(...parts)}`, 'i'),
});

const FINDINGS: Finding[] = [
  { what: 'a path of one machine', needle: new RegExp(`(?<![\\w.$}-])/${word('wo', 'rk')}/`) },
  {
    what: 'a path of one machine',
    needle: new RegExp(`(?<![\\w.$}-])/${word('ro', 'ot')}/`),
    // Commands that must be refused name it.
    except: /^tests\/unit\/sandbox\//,
  },
  { what: 'a path of one machine', needle: new RegExp(`/${word('Us', 'ers')}/[a-z]`) },
  host('registry.', 'npmjs', '.org'),
  host('registry.', 'yarnpkg', '.com'),
  host('py', 'pi.org'),
  host('files.', 'python', 'hosted.org'),
  host('proxy.', 'golang', '.org'),
  host('sum.', 'golang', '.org'),
  host('index.', 'crates', '.io'),
  host('ruby', 'gems', '.org'),
  { what: 'a word of its making', needle: new RegExp(word('tmp/', 'brief')) },
  { what: 'a word of its making', needle: new RegExp(word('shared/', '(design|spec|seeds|cases)')) },
  { what: 'a word of its making', needle: new RegExp(`\\.${word('lib', 'rary/')}`) },
  {
    what: 'a word of its making',
    needle: new RegExp(`\\b${word('cla', 'ude')}\\b`, 'i'),
    // A provider's own names.
    except: /^models\/anthropic\//,
  },
  { what: 'a word of its making', needle: new RegExp(`\\b(another|other|this|our) ${word('hel', 'per')}s?\\b`, 'i') },
  { what: 'a word of its making', needle: new RegExp(`\\bin this ${word('ses', 'sion')}\\b`, 'i') },
];

function findingsIn(path: string): string[] {
  const bytes = readFileSync(join(ROOT, path));
  if (bytes.includes(0)) return [];
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line, place) =>
      FINDINGS.filter(({ needle, except }) => needle.test(line) && except?.test(path) !== true).map(
        ({ what }) => `${path}:${place + 1} names ${what}`,
      ),
    );
}

describe('the files of the project', () => {
  it('speak of the project alone: no machine, package registry or workplace is named', () => {
    const files = projectFiles();
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(findingsIn)).toEqual([]);
  });

  it('install from any registry: the lock file names none', () => {
    const lock = readProjectFile('package-lock.json');
    expect(lock).toContain('"integrity"');
    expect(lock).not.toContain('"resolved"');
  });
});
