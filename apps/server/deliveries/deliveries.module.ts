/** The delivery log, and delivering again. */
import { Module } from '@nestjs/common';
import { DeliveryAcceptorModule } from '../ingress/ingress.module.ts';
import { DeliveryController } from './deliveries.controller.ts';
import { DeliveryService } from './deliveries.service.ts';
import { ResendService } from './resends.service.ts';
import { LogStores } from './stored-deliveries.ts';

@Module({
  imports: [DeliveryAcceptorModule],
  controllers: [DeliveryController],
  providers: [LogStores, DeliveryService, ResendService],
})
export class DeliveriesModule {}
