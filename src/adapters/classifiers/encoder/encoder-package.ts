import { readFile } from 'node:fs/promises'
import type * as encoderPackage from 'gatehouse-moderation-encoder'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { perCategory } from '../../../domain/scan/classify/categories.ts'
import { textDirections } from '../../../domain/scan/classify/classifier.ts'
import type { EncoderStack } from '../../../domain/scan/classify/encoder.ts'
import type { WindowSizes } from './windows.ts'

/** The module of the package: where its files are, and how to load the run time. */
export type EncoderPackage = typeof encoderPackage

/** What `encoder.json` in the package says about the model. */
export type EncoderDescription = WindowSizes & {
  readonly version: string
  /** SHA-256 of `model.onnx`, followed by `model.onnx.data` if the weights are in that file. */
  readonly digest: string
  readonly stack: EncoderStack
}

const problemCodes = [
  'package_missing',
  'package_incomplete',
  'runtime_missing',
  'wrong_digest',
  'unsupported',
  'not_started',
] as const

/** Why there is no encoder, for the log and for `gatehouse doctor`. */
export type EncoderProblem = { readonly code: (typeof problemCodes)[number]; readonly message: string }

/** The package in the registry and in `packages/` of the project. */
export const shippedPackage = 'gatehouse-moderation-encoder'

/** Loads the module of the package. A test passes the address of a module of its own. */
export const importPackage = async (name: string): Promise<EncoderPackage> => (await import(name)) as EncoderPackage

/** Finds the package and reads what it says about its model. Neither the model nor the run time is loaded. */
export async function describePackage(name: string): Promise<EncoderDescription | EncoderProblem> {
  let files: EncoderPackage
  try {
    files = await importPackage(name)
  } catch {
    return problem('package_missing', `The package ${shippedPackage} is not installed.`)
  }
  try {
    return readDescription(await readFile(files.description, 'utf8'))
  } catch (error) {
    return problem('package_incomplete', `${shippedPackage} cannot be read: ${textOf(error)}. Install it again.`)
  }
}

function readDescription(text: string): EncoderDescription | EncoderProblem {
  const description: unknown = JSON.parse(text)
  if (!Value.Check(schema, description)) {
    const [error] = Value.Errors(schema, description)
    return otherFormat(`${error?.instancePath} ${error?.message}`)
  }
  const { windowTokens, strideTokens } = description
  return strideTokens <= windowTokens - 2 ? description : otherFormat('the windows leave out a part of the text')
}

const otherFormat = (difference: string): EncoderProblem =>
  problem(
    'unsupported',
    `encoder.json of ${shippedPackage} has another format: ${difference}. Install the version that belongs to this gateway.`,
  )

export const problem = (code: EncoderProblem['code'], message: string): EncoderProblem => ({ code, message })

export const isProblem = (value: object): value is EncoderProblem =>
  'code' in value && problemCodes.some((code) => code === value.code)

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const input = Type.Object({
  weight: Type.Number(),
  mean: Type.Number(),
  deviation: Type.Number({ exclusiveMinimum: 0 }),
})
const category = Type.Object({
  askFrom: Type.Number(),
  encoder: input,
  linear: input,
  slope: Type.Number({ exclusiveMinimum: 0 }),
  thresholds: Type.Record(Type.Enum([...textDirections]), Type.Number()),
})
const schema = Type.Object({
  version: Type.String({ minLength: 1 }),
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  windowTokens: Type.Integer({ minimum: 3, maximum: 512 }),
  strideTokens: Type.Integer({ minimum: 1 }),
  stack: Type.Object({ categories: Type.Object(perCategory(() => category)) }),
})
