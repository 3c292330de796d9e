/** Lines of durations over time; only the frame of charts loads it. */
import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import { durationText } from '../components/text/time.tsx';
import type { DrawnProps } from './frame.tsx';
import { HEIGHT, sized, tooltipOf, xAxisOf } from './drawing.ts';

export default function Lines({ rows, series, times }: DrawnProps) {
  return (
    <LineChart
      h={HEIGHT}
      data={[...rows]}
      dataKey="from"
      series={series.map(({ key, label, color, dashes }) => ({ name: key, label, color, strokeDasharray: dashes }))}
      attributes={sized}
      accessibilityLayer={false}
      curveType="linear"
      connectNulls={false}
      dotProps={{ r: 3, strokeDasharray: '' }}
      xAxisProps={xAxisOf(times)}
      yAxisProps={{ width: 64 }}
      tooltipProps={tooltipOf(times)}
      valueFormatter={durationText}
    />
  );
}
