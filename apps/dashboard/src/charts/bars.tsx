/** Stacked bars over time; only the frame of charts loads it. */
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { DrawnProps } from './frame.tsx';
import { HEIGHT, sized, tooltipOf, xAxisOf } from './drawing.ts';

export default function Bars({ rows, series, times }: DrawnProps) {
  return (
    <BarChart
      h={HEIGHT}
      type="stacked"
      data={[...rows]}
      dataKey="from"
      series={series.map(({ key, label, color }) => ({ name: key, label, color }))}
      attributes={sized}
      accessibilityLayer={false}
      xAxisProps={xAxisOf(times)}
      yAxisProps={{ allowDecimals: false, width: 44 }}
      tooltipProps={tooltipOf(times)}
      barChartProps={{ barCategoryGap: '15%' }}
      valueFormatter={(count) => count.toLocaleString()}
    />
  );
}
