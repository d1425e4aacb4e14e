/** Before the first test: a fresh build, and the two servers. Where either fails, the run fails with the reason. */
import { ensureBuilt } from './build';
import { keepServices } from './kept-services';
import { startTestServices } from './services';

// jest asks for a default export here.
module.exports = async function setUp(): Promise<void> {
  ensureBuilt();
  const services = await startTestServices();
  keepServices(services);
  process.env.TEST_DATABASE_URL = services.databaseUrl;
  process.env.TEST_TEMPORAL_ADDRESS = services.temporalAddress;
};
