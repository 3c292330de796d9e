/** Payload filters tried on stored deliveries: all of them take turns for the same work. */
import { Module } from '@nestjs/common';
import { FairSemaphore } from './fair-semaphore.ts';
import { questionSemaphore } from './bounded-work.ts';
import { FilterReplayService } from './filter-replays.service.ts';
import { FilterSuggestionService } from './filter-suggestions.service.ts';
import { FilterTestService } from './filter-tests.service.ts';

@Module({
  providers: [
    { provide: FairSemaphore, useFactory: () => questionSemaphore() },
    FilterTestService,
    FilterReplayService,
    FilterSuggestionService,
  ],
  exports: [FairSemaphore, FilterTestService, FilterReplayService, FilterSuggestionService],
})
export class FiltersModule {}
