/** Everything under the API base that is no route: 404, after authentication. contract 3. */
import { All, Controller } from '@nestjs/common';
import { Allow } from './access.ts';
import { Refusal } from './answers.ts';

@Controller('api/v1')
export class UnknownRouteController {
  @All(['', '*'])
  @Allow('viewer')
  unknown(): never {
    throw new Refusal('resource_not_found', 'there is no such resource');
  }
}
