/**
 * Trains the model for languages other than English.
 *
 *   npm run train:languages -- DATA_FOLDER
 *
 * Prints numbers only. The thresholds come from cross-validation: harmless texts in any language that a model without them flags.
 */
import { writeFileSync } from 'node:fs'
import { shippedLanguageModel } from '../src/adapters/classifiers/embedded/classifier.ts'
import { encodeLanguageModel } from '../src/adapters/classifiers/embedded/languages/language-model.ts'
import { calibrate } from './languages/calibrate.ts'
import { readRows } from './languages/rows.ts'
import { crossValidate, trainModel } from './languages/train.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: node scripts/train-languages.ts DATA_FOLDER')
  process.exit(2)
}

const rows = readRows(folder)
console.log(`${rows.length} texts`)
const { calibration, table } = calibrate(rows, crossValidate(rows))
console.table(table)
writeFileSync(shippedLanguageModel, encodeLanguageModel(trainModel(rows, calibration)))
console.log('Wrote the model.')
