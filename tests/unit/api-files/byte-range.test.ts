import { parseByteRange } from '../../../api/files/byte-range';

test.each([
  ['bytes=0-0', 10, { start: 0, end: 0 }],
  ['bytes=3-', 10, { start: 3, end: 9 }],
  ['bytes=-4', 10, { start: 6, end: 9 }],
  ['bytes=-40', 10, { start: 0, end: 9 }],
  ['BYTES=0-99', 10, { start: 0, end: 9 }],
  ['bytes= 1 - 2 ', 10, { start: 1, end: 2 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=-1', 0, 'unsatisfiable'],
  ['bytes=5-4', 10, null],
  ['bytes=-', 10, null],
  ['bytes=a-b', 10, null],
  ['bytes=0-1,3-4', 10, null],
  ['bytes=0-99999999999999999999', 10, null],
  ['items=0-1', 10, null],
  ['', 10, null],
] as const)('%s of %i bytes', (header, size, expected) => {
  expect(parseByteRange(header, size)).toEqual(expected);
});
