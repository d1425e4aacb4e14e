import { jsonShape } from '../../../api/http/json-shape';

const shapeOf = (text: string, limits = { depth: 1_000, values: 1_000_000 }) => jsonShape(Buffer.from(text), limits);

it.each([
  ['', 0],
  ['5', 0],
  ['{}', 1],
  ['[[], [[]]]', 3],
  ['{"a": {"b": [1]}}', 3],
  ['"[[[["', 0],
  [String.raw`["\"[[[", "\\", [1]]`, 2],
  ['[[[', 3],
  [']]][', 0],
])('%s is nested %s levels deep, whatever its texts hold', (text, depth) => {
  expect(shapeOf(text).depth).toBe(depth);
});

it('counts what parsing would make, and not the commas in texts', () => {
  expect(shapeOf('[1, 2, 3]').values).toBe(4);
  expect(shapeOf('["a,b,c,d,e"]').values).toBe(2);
  expect(shapeOf(`{"messages":[{"role":"user","content":"${'x, '.repeat(1000)}"}]}`).values).toBeLessThan(10);
});

it('stops at the first limit that is passed', () => {
  expect(shapeOf('['.repeat(5_000_000), { depth: 200, values: 1_000 }).depth).toBe(201);
  expect(shapeOf('1,'.repeat(5_000_000), { depth: 200, values: 1_000 }).values).toBe(1_001);
});

it('passes over long texts quickly, also over those full of quotes', () => {
  const text = `["${'x'.repeat(10_000_000)}", "${'\\"'.repeat(5_000_000)}"]`;
  const started = Date.now();
  expect(shapeOf(text)).toEqual({ depth: 1, values: 3 });
  expect(Date.now() - started).toBeLessThan(3_000);
});
