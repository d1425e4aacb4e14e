/** Ends the run's output with one plain line, and names every test that did not run: nothing is skipped in silence. */
module.exports = class SummaryReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.testResults.flatMap((file) =>
      file.testResults
        .filter((test) => test.status === 'pending' || test.status === 'todo')
        .map((test) => `skipped: ${file.testFilePath}: ${test.fullName}`),
    );
    for (const line of skipped) process.stdout.write(`${line}\n`);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed, ${skipped.length} skipped\n`);
  }
};
