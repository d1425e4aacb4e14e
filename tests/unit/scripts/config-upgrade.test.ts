import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CONFIG_VERSION } from '../../../config';
import { upgradeConfig } from '../../../scripts/config-upgrade/upgrade';

const EXAMPLE = readFileSync(join(__dirname, '../../../config.example.yaml'), 'utf8');

const upgraded = (own: string, example = EXAMPLE): string => {
  const { text } = upgradeConfig(own, example);
  if (text === null) throw new Error('nothing was done');
  return text;
};

describe('bringing a configuration to the newest layout', () => {
  it('keeps every value and every comment of its owner, and adds what is new with the comments of the example', () => {
    const own = '# mine\ntitle:\n  max_chars: 30 # short\nmodels:\n  - name: a # first\n    use: u\n    model: m\n';
    const text = upgraded(own);
    for (const part of ['# mine', 'max_chars: 30 # short', '- name: a # first']) expect(text).toContain(part);
    expect(text).toContain('# Longest result of a tool in characters');
    const value = parse(text) as Record<string, unknown>;
    expect(value['title']).toMatchObject({ max_chars: 30, enabled: true, model_name: null });
    expect(value['models']).toEqual([{ name: 'a', use: 'u', model: 'm' }]);
    expect(value['config_version']).toBe(CONFIG_VERSION);
  });

  it('merges no lists and puts nothing in the place of an empty value', () => {
    const value = parse(upgraded('tools: []\nsandbox:\n')) as Record<string, unknown>;
    expect(value['tools']).toEqual([]);
    expect(value['sandbox']).toBeNull();
  });

  it('keeps what a section takes from an anchor', () => {
    const example = 'config_version: 2\ntitle:\n  enabled: true\n  max_chars: 60\n';
    const text = upgraded('x: &mine {enabled: false}\ntitle:\n  <<: *mine\n', example);
    expect((parse(text, { merge: true }) as Record<string, unknown>)['title']).toEqual({
      enabled: false,
      max_chars: 60,
    });
  });

  it('does nothing the second time, and nothing to a newer file', () => {
    expect(upgradeConfig(upgraded('title: {}\n'), EXAMPLE)).toMatchObject({ text: null, from: CONFIG_VERSION });
    expect(upgradeConfig(`config_version: ${CONFIG_VERSION + 1}\n`, EXAMPLE).text).toBeNull();
  });

  it('takes a version that is no whole number as the first', () => {
    expect(upgradeConfig('config_version: "34"\n', EXAMPLE).from).toBe(0);
  });

  it('moves class paths of the first layout', () => {
    const text = upgraded(
      'models:\n  - {name: a, use: "src.models.x:Y", model: m}\n  - {name: b, use: src.models.z:Z, model: m}\n',
    );
    expect(parse(text)).toMatchObject({ models: [{ use: 'deerflow.models.x:Y' }, { use: 'deerflow.models.z:Z' }] });
  });

  it('fills an empty file', () => {
    expect(parse(upgraded(''))).toEqual(parse(EXAMPLE));
  });

  it('keeps the line ends of its owner, and writes an empty section out in lines', () => {
    const text = upgraded('title: {}\r\nlead_prompt_overlay:\r\n  prepend: |\r\n    one\r\n    two\r\n');
    expect(text.match(/(?<!\r)\n/g)).toBeNull();
    expect(text).toMatch(/^title:\r\n {2}enabled: true\r\n/);
    expect(parse(text)).toMatchObject({ lead_prompt_overlay: { prepend: 'one\ntwo\n' }, title: { max_chars: 60 } });
  });

  it('says which line stands in the way', () => {
    expect(() => upgradeConfig('a: 1\na: 2\n', EXAMPLE)).toThrow(/line 2/);
    expect(() => upgradeConfig('- a\n', EXAMPLE)).toThrow(/no mapping/);
  });
});

it('the version of the example is the version that the server knows', () => {
  expect((parse(EXAMPLE) as Record<string, unknown>)['config_version']).toBe(CONFIG_VERSION);
});
