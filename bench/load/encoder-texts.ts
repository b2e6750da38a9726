import type { LoadPlan } from './load.ts'

/** How many texts the encoder of the measured process was asked for since its start, by its metrics. */
export async function countEncoderTexts({ port, hasEncoder }: Pick<LoadPlan, 'port' | 'hasEncoder'>): Promise<number> {
  if (!hasEncoder) return 0
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const counts = metrics.matchAll(/^gatehouse_encoder_texts_total\{[^}]*\} (\d+)/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
