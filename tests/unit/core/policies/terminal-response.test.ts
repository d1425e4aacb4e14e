import type { ToolMessage } from '../../../../contracts';
import { RECOVERED_MARK, afterToolResult, wasRecovered } from '../../../../core/policies';
import { aiMessage, humanMessage } from '../../../support/run-fixtures';

const result: ToolMessage = {
  ...aiMessage('done', 't'),
  type: 'tool',
  tool_call_id: 'c',
  status: 'success',
  artifact: null,
};
const recovered = { ...aiMessage('at last'), additional_kwargs: { [RECOVERED_MARK]: true } };

test('a model that says nothing is asked again only where it was to answer to tools', () => {
  expect(afterToolResult([humanMessage('q'), aiMessage('a'), result])).toBe(true);
  expect(afterToolResult([humanMessage('q')])).toBe(false);
  expect(afterToolResult([])).toBe(false);
});

test('a question has one second chance, and the next question one of its own', () => {
  expect(wasRecovered([humanMessage('q'), recovered, result])).toBe(true);
  expect(wasRecovered([humanMessage('q'), recovered, humanMessage('next'), aiMessage('a'), result])).toBe(false);
});
