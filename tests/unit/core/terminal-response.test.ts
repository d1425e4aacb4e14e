import type { ToolMessage } from '../../../contracts';
import { RECOVERED_MARK, mayAskAgain } from '../../../core/reply-policies';
import { aiMessage, humanMessage } from '../../support/run-fixtures';

const result: ToolMessage = {
  ...aiMessage('done', 't'),
  type: 'tool',
  tool_call_id: 'c',
  status: 'success',
  artifact: null,
};
const recovered = { ...aiMessage('at last'), additional_kwargs: { [RECOVERED_MARK]: true } };

test('a model that says nothing is asked again only where it was to answer to tools', () => {
  expect(mayAskAgain([humanMessage('q'), aiMessage('a'), result])).toBe(true);
  expect(mayAskAgain([humanMessage('q')])).toBe(false);
  expect(mayAskAgain([])).toBe(false);
});

test('a question has one second chance, and the next question one of its own', () => {
  expect(mayAskAgain([humanMessage('q'), recovered, result])).toBe(false);
  expect(mayAskAgain([humanMessage('q'), recovered, humanMessage('next'), aiMessage('a'), result])).toBe(true);
});
