/** The same histories, many more of them. */
import './identity-runs.spec.ts';
