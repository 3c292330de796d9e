/** `/agent/schedules`: what starts runs by the clock. */
import type { APIPromise } from '../../answers.ts';
import type { ScheduleCreate, ScheduleDeleted, ScheduleItem, ScheduleList, ScheduleUpdate } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';

/** Schedules, and the schedule triggers of automations, which are changed where the automations are. */
export class Schedules extends Resource {
  /** Lists the schedules that the key may see, by name, those of automations too. Role: viewer. */
  list(options?: RequestOptions): APIPromise<ScheduleList> {
    return this.client.call({ method: 'GET', template: '/agent/schedules', answer: 'ScheduleList', options });
  }

  /**
   * Makes a schedule, which counts from now. `prompt` is needed unless `agent_config` names a skill. A key that is
   * limited to factories names one as `factory_uid`.
   * Role: operator. Throws BadRequestError (400) with every problem by JSON pointer, ConflictError (409) where there
   * are a thousand. What is not served here is named in `ignored`.
   */
  create(params: ScheduleCreate, options?: RequestOptions): APIPromise<ScheduleItem> {
    return this.client.call({
      method: 'POST',
      template: '/agent/schedules',
      body: params,
      answer: 'ScheduleItem',
      options,
    });
  }

  /** Looks at a schedule. Role: viewer. */
  retrieve(scheduleId: string, options?: RequestOptions): APIPromise<ScheduleItem> {
    return this.client.call({
      method: 'GET',
      template: '/agent/schedules/{schedule_id}',
      path: { schedule_id: scheduleId },
      answer: 'ScheduleItem',
      options,
    });
  }

  /**
   * Changes a schedule; what is left out stays as it is. With another expression it counts from now.
   * Role: operator. Throws ConflictError (409) for the trigger of an automation.
   */
  update(scheduleId: string, params: ScheduleUpdate, options?: RequestOptions): APIPromise<ScheduleItem> {
    return this.client.call({
      method: 'PUT',
      template: '/agent/schedules/{schedule_id}',
      path: { schedule_id: scheduleId },
      body: params,
      answer: 'ScheduleItem',
      options,
    });
  }

  /**
   * Deletes a schedule, which starts nothing from then on.
   * Role: operator. Throws ConflictError (409) for the trigger of an automation.
   */
  delete(scheduleId: string, options?: RequestOptions): APIPromise<ScheduleDeleted> {
    return this.client.call({
      method: 'DELETE',
      template: '/agent/schedules/{schedule_id}',
      path: { schedule_id: scheduleId },
      answer: 'ScheduleDeleted',
      options,
    });
  }

  /**
   * Pauses a schedule, which starts nothing from then on. Repeating it is no error.
   * Role: operator. Throws ConflictError (409) for the trigger of an automation.
   */
  pause(scheduleId: string, options?: RequestOptions): APIPromise<ScheduleItem> {
    return this.client.call({
      method: 'POST',
      template: '/agent/schedules/{schedule_id}/pause',
      path: { schedule_id: scheduleId },
      answer: 'ScheduleItem',
      options,
    });
  }

  /**
   * Resumes a schedule, which counts from now. Repeating it is no error.
   * Role: operator. Throws ConflictError (409) for the trigger of an automation.
   */
  resume(scheduleId: string, options?: RequestOptions): APIPromise<ScheduleItem> {
    return this.client.call({
      method: 'POST',
      template: '/agent/schedules/{schedule_id}/resume',
      path: { schedule_id: scheduleId },
      answer: 'ScheduleItem',
      options,
    });
  }
}
