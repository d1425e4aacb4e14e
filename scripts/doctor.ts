/** `npm run doctor`: would this installation start and work, and if not, what has to be done. */
import { runCommand } from '../workers/stack/command';
import { examine } from './doctor/examine';
import { isHealthy } from './doctor/finding';
import { DOCTOR_HELP, parseDoctorOptions } from './doctor/options';
import { jsonReport, textReport } from './doctor/report';

async function main(): Promise<void> {
  const options = parseDoctorOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(DOCTOR_HELP);
    return;
  }
  const findings = await examine(options, { env: process.env, cwd: process.cwd() });
  process.stdout.write(options.json ? jsonReport(findings) : textReport(findings));
  process.exitCode = isHealthy(findings) ? 0 : 1;
}

runCommand(main);
