/** The same property over many more documents. contract §8.6. */
import './schemas-agree.spec.ts';
