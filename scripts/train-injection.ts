/**
 * Trains the detector of prompt injections, and prints how good it is.
 *
 *   npm run train:injection -- FOLDER                     prints the figures of a model trained now
 *   npm run train:injection -- FOLDER --write             also writes the model, and the floors of the probes
 *   npm run train:injection -- FOLDER --cross-validate    also leaves out families of authored texts in turn
 *
 * The folder holds labelled text and conversations, see `scripts/classifier/rows.ts`. The same folder gives the same bytes. No text
 * of the folder is printed.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createInjectionDetector, shippedModel } from '../src/adapters/injection/detector.ts'
import { decodeModel, encodeModel } from '../src/adapters/injection/model-file.ts'
import { crossValidate } from './injection/cross-validate.ts'
import { readExamples } from './injection/examples.ts'
import { fit, modelOf } from './injection/fit.ts'
import { countRight, floorsFile, readInjectionProbes } from './injection/probes.ts'
import { highestLogit } from './injection/windows.ts'

const { folder, isWritten, isCrossValidated } = optionsIn(process.argv.slice(2))
const examples = readExamples(folder)
const solution = fit(examples.train)
const bytes = encodeModel(modelOf(solution))
const detector = createInjectionDetector(decodeModel(bytes))
console.log(`model: ${bytes.length} bytes, ${detector.identity}`)
for (const name of ['conversations', 'documents'] as const) {
  const alarms = examples[name].filter((windows) => highestLogit(windows, solution) >= 0).length
  console.log(`false alarms in ${name}: ${alarms} of ${examples[name].length}`)
}
const floors: Record<string, number> = {}
for (const probes of readInjectionProbes()) {
  const { right, texts } = await countRight(probes, detector)
  console.log(`${probes.name}: ${right} of ${texts} right`)
  floors[probes.name] = right
}
if (isCrossValidated) for (const line of crossValidate(examples)) console.log(line)
if (isWritten) {
  writeFileSync(shippedModel, bytes)
  writeFileSync(floorsFile, `${JSON.stringify(floors, null, 2)}\n`)
}

function optionsIn(words: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { write: { type: 'boolean' }, 'cross-validate': { type: 'boolean' } },
    allowPositionals: true,
  })
  const [given] = positionals
  if (given === undefined) {
    console.error('Usage: npm run train:injection -- FOLDER [--write] [--cross-validate]')
    process.exit(2)
  }
  return { folder: given, isWritten: values.write === true, isCrossValidated: values['cross-validate'] === true }
}
