/** The last line of a report, `Tests: N passed, N failed, N skipped`, of what Jest writes as JSON. */

/** What did not run is named, and counted as skipped. */
export function closingLine({ numPassedTests, numFailedTests, numPendingTests, testResults }) {
  const skipped = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'pending'),
  );
  for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);
  console.log(`Tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
}
