/** Deliveries: how one is accepted, whoever brings it; who takes them from the network, where one has the role. */
import { Module } from '@nestjs/common';
import { RawRoutes } from '../http/requests.ts';
import { SampledLog } from '../process/sampled-log.ts';
import { DeliveryAcceptor } from './delivery-acceptor.ts';
import { AcceptanceFigures, DeliveryTraces } from './delivery-telemetry.ts';
import { DeliveryReceiver } from './delivery-receiver.ts';
import { IngressAnswers } from './ingress-answers.ts';
import { DisabledIngress, IngressListener } from './ingress-listener.ts';
import { RefusedLog } from './refused-delivery-log.ts';
import { WideDecisions } from './wide-decisions.ts';

@Module({
  providers: [DeliveryAcceptor, AcceptanceFigures, DeliveryTraces, SampledLog, WideDecisions],
  exports: [DeliveryAcceptor],
})
export class DeliveryAcceptorModule {}

@Module({
  imports: [DeliveryAcceptorModule],
  providers: [DeliveryReceiver, IngressAnswers, RefusedLog, { provide: RawRoutes, useClass: IngressListener }],
  exports: [RefusedLog],
})
export class IngressModule {}

/** Of a process that takes no deliveries. */
@Module({ providers: [{ provide: RawRoutes, useClass: DisabledIngress }] })
export class DisabledIngressModule {}
