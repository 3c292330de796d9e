/** Formatting in the second tier: ten times as many files. */
import './format.spec.ts';
