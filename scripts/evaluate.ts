/**
 * Measures the bundled moderation classifier and prints tables.
 *
 *   npm run evaluate                            the probes in `scripts/classifier/probes`, with the encoder if it is installed
 *   npm run evaluate -- --data FOLDER           also the evaluation sets: quality, over-blocking, hold-back, evasion
 *   npm run evaluate -- --data FOLDER --write   writes the current hold-back bounds into the model, the metrics, the model card, and
 *                                               the floors of the probes where they rose
 *   npm run evaluate -- --linear                the linear stage alone, in seconds
 *
 * With a folder it fails if an average precision is more than 0.02 below the one in `metrics.json`, if more of a violating stream is
 * shown, or if the kernel gives a text other scores than the trainer's reading of it. It prints no text of the folder.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { shippedModel } from '../src/adapters/classifiers/embedded/classifier.ts'
import { loadKernel } from '../src/adapters/classifiers/embedded/kernel/load.ts'
import { decodeModel, encodeModel } from '../src/adapters/classifiers/embedded/model-file.ts'
import { createTextScorer } from '../src/adapters/classifiers/embedded/text-scorer.ts'
import { createReferenceScorer } from '../test/support/reference-scorer/reference-scorer.ts'
import { evaluateBothStages, evaluateModel, type Metrics } from './classifier/evaluate.ts'
import { cardFile, metricsFile } from './classifier/files.ts'
import { holdBackBounds } from './classifier/hold-back.ts'
import { writeModelCard, writeTables } from './classifier/model-card.ts'
import { raiseFloors, readFloors, runProbes } from './classifier/probes.ts'
import { readData, type Data } from './classifier/rows.ts'
import { createJudge, openBothStages, type BothStages } from './classifier/stages.ts'
import { probeTable } from './classifier/tables.ts'

const tolerance = 0.02
const { data: folder, write, linear: isLinearOnly } = optionsIn(process.argv.slice(2))
const bytes = write ? withHoldBack(readFileSync(shippedModel)) : readFileSync(shippedModel)
const model = decodeModel(bytes)
const problems = folder === undefined ? await evaluateProbes() : await evaluateAll(readData(folder))
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

type Options = { readonly data: string | undefined; readonly linear: boolean; readonly write: boolean }

function optionsIn(words: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { data: { type: 'string' }, linear: { type: 'boolean' }, write: { type: 'boolean' } },
    })
    return { data: values.data, linear: values.linear === true, write: values.write === true }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    console.error('Usage: npm run evaluate -- [--data FOLDER] [--linear] [--write]')
    process.exit(2)
  }
}

async function evaluateProbes(): Promise<readonly string[]> {
  const probes = await runProbes(createJudge(model))
  const both = await withBothStages(async ({ judge }) => ({ name: 'with encoder', probes: await runProbes(judge) }))
  console.log(probeTable([{ name: 'linear', probes }, ...(both === undefined ? [] : [both])]))
  if (write) raiseFloors(probes)
  return belowFloors(probes)
}

async function evaluateAll(data: Data): Promise<readonly string[]> {
  const recorded: Partial<Metrics> = JSON.parse(readFileSync(metricsFile, 'utf8'))
  const linear = await evaluateModel(model, bytes.byteLength, data)
  const isSameModel = recorded.model?.digest === model.digest
  const withEncoder =
    (await withBothStages((stages) => evaluateBothStages(stages, data, console.error))) ??
    (isSameModel ? recorded.withEncoder : undefined)
  const metrics: Metrics = {
    ...linear,
    heldOut: recorded.heldOut ?? {},
    ...(withEncoder !== undefined && { withEncoder }),
  }
  console.log(writeTables(metrics))
  if (write) {
    writeFileSync(shippedModel, bytes)
    writeFileSync(metricsFile, `${JSON.stringify(metrics, null, 2)}\n`)
    writeFileSync(cardFile, writeModelCard(metrics))
    raiseFloors(metrics.probes)
  }
  return [
    ...worseQuality(recorded, metrics),
    ...worseHoldBack(recorded, metrics),
    ...differentScores(data),
    ...belowFloors(metrics.probes),
  ]
}

/** Undefined, and a line that says why, if there is no encoder. */
async function withBothStages<Result>(measure: (stages: BothStages) => Promise<Result>): Promise<Result | undefined> {
  if (isLinearOnly) return undefined
  const opened = await openBothStages(model)
  if ('problem' in opened) {
    console.error(`Only the linear stage is measured. ${opened.problem}`)
    return undefined
  }
  await using stages = opened
  console.error('Measuring both stages. This takes some minutes with a data folder.')
  return await measure(stages)
}

function withHoldBack(file: Uint8Array): Uint8Array {
  const decoded = decodeModel(file)
  return encodeModel({ ...decoded, header: { ...decoded.header, holdBack: holdBackBounds } })
}

function worseQuality(recorded: Partial<Metrics>, measured: Metrics): readonly string[] {
  return Object.entries(recorded.quality ?? {}).flatMap(([category, { averagePrecision }]) =>
    (measured.quality[category]?.averagePrecision ?? 0) < averagePrecision - tolerance
      ? [`The average precision of ${category} is worse than in metrics.json.`]
      : [],
  )
}

function worseHoldBack(recorded: Partial<Metrics>, measured: Metrics): readonly string[] {
  return Object.entries(recorded.holdBack?.['by risk']?.shown ?? {}).flatMap(([category, before]) => {
    const now = measured.holdBack['by risk']?.shown[category]
    const isWorse = now === undefined || now.nothingShown < before.nothingShown - tolerance || now.p90 > before.p90
    return isWorse ? [`More of ${category} is shown than in metrics.json.`] : []
  })
}

function differentScores(data: Data): readonly string[] {
  const score = createTextScorer(loadKernel(model))
  const reference = createReferenceScorer(model)
  const texts = [...data.dev, ...data.overblock, ...data.pool].map(({ text }) => text)
  const different = texts.filter((text) => !isDeepStrictEqual(score(text), reference(text))).length
  return different > 0 ? [`The kernel gives ${different} texts other scores than the trainer's reading.`] : []
}

function belowFloors(probes: Metrics['probes']): readonly string[] {
  return Object.entries(readFloors()).flatMap(([group, floor]) => {
    const right = probes[group]?.right ?? 0
    return right < floor ? [`Probes "${group}": ${right} right, fewer than ${floor} in probe-floors.json.`] : []
  })
}
