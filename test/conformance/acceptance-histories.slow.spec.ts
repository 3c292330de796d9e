/** The same histories, many more of them. */
import './acceptance-histories.spec.ts';
