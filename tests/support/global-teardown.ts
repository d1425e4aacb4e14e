import { keptServices } from './kept-services';

module.exports = async function tearDown(): Promise<void> {
  await keptServices()?.stop();
};
