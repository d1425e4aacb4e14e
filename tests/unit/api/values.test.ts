import { visibleMessage } from '../../../api/state/hygiene';
import { interruptKeys, valuesJson, withKeys, withRaw } from '../../../api/state/values';

describe('the values of a state', () => {
  it('are one JSON object of messages as they are stored and all channels', () => {
    const text = valuesJson({ messages: ['{"id": "a"}', '{"id": "b"}'], channels: { title: 'T', artifacts: ['/x'] } });
    expect(JSON.parse(text)).toEqual({
      messages: [{ id: 'a' }, { id: 'b' }],
      artifacts: ['/x'],
      viewed_images: {},
      delegations: [],
      skill_context: [],
      title: 'T',
      thread_data: {
        workspace_path: '/mnt/user-data/workspace',
        uploads_path: '/mnt/user-data/uploads',
        outputs_path: '/mnt/user-data/outputs',
      },
    });
  });

  it('never show inner channels, host paths or a channel in place of the messages', () => {
    const channels = { __pregel_tasks: [1], thread_data: { workspace_path: '/srv/secret' }, messages: 'x' };
    const text = valuesJson({ messages: [], channels });
    expect(text).not.toMatch(/pregel|secret/);
    expect(JSON.parse(text)).toMatchObject({ messages: [] });
  });

  it('gain keys without being parsed', () => {
    expect(withKeys('{"a": 1}', { b: 2 })).toBe('{"a": 1,"b":2}');
    expect(withKeys('{}', { b: 2 })).toBe('{"b":2}');
    expect(withKeys('{ }', { b: 2 })).toBe('{ "b":2}');
    expect(withKeys('{"a": {}}', {})).toBe('{"a": {}}');
    expect(withRaw({}, 'v', '[1]')).toBe('{"v":[1]}');
    expect(withRaw({ a: 1 }, 'v', '[1]')).toBe('{"a":1,"v":[1]}');
    expect(interruptKeys([])).toEqual({});
  });
});

describe('a message on its way out', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const link = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  const raw = { type: 'image', source_type: 'base64', data: 'AAAA' };

  it('loses inline images if it is hidden, and keeps everything else', () => {
    const hidden = { content: [image, link, raw, 'text'], additional_kwargs: { hide_from_ui: true } };
    expect(JSON.parse(visibleMessage(JSON.stringify(hidden)))).toEqual({ ...hidden, content: [link, 'text'] });
  });

  it('is not touched otherwise, to the letter', () => {
    for (const kwargs of [{}, { hide_from_ui: false }, { hide_from_ui: 'true' }]) {
      const body = JSON.stringify({ content: [image], additional_kwargs: kwargs });
      expect(visibleMessage(body)).toBe(body);
    }
    const spaced = '{"content" :  "hide_from_ui"}';
    expect(visibleMessage(spaced)).toBe(spaced);
  });
});
