import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from './temporary-folder.ts'

const fixture = resolve(import.meta.dirname, '../fixtures/moderation-encoder')
const files = ['encoder.json', 'model.onnx', 'vocabulary.txt']

export type EncoderPackageChanges = {
  /** Replaces fields of `encoder.json`. */
  readonly description?: object
  /** The body of `loadRuntime`; by default it loads the real run time. */
  readonly loadRuntime?: string
}

/**
 * A package with a model of a few bytes. Its logit number c of a text is the sum of (id + c / 10) over the word pieces, with the
 * marks 2 before the text and 3 after it.
 */
export async function writeEncoderPackage({ description = {}, loadRuntime = realRuntime }: EncoderPackageChanges = {}) {
  const folder = await temporaryFolder()
  const pathOf = (file: string): string => join(folder.path, file)
  for (const file of files) cpSync(join(fixture, file), pathOf(file))
  const described = JSON.parse(readFileSync(pathOf('encoder.json'), 'utf8')) as object
  writeFileSync(pathOf('encoder.json'), JSON.stringify({ ...described, ...description }))
  writeFileSync(pathOf('package.json'), '{ "type": "module" }')
  writeFileSync(
    pathOf('index.js'),
    `export const description = new URL('encoder.json', import.meta.url)
export const model = new URL('model.onnx', import.meta.url)
export const vocabulary = new URL('vocabulary.txt', import.meta.url)
export async function loadRuntime() { ${loadRuntime} }
`,
  )
  return { ...folder, pathOf, name: pathToFileURL(pathOf('index.js')).href }
}

const runtime = `await (await import('${import.meta.resolve('gatehouse-moderation-encoder')}')).loadRuntime()`
const realRuntime = `return ${runtime}`

/** A run time that ends the thread when it gets the word with this id. */
export const runtimeThatDiesOn = (id: number): string => `
  const { env, Tensor, InferenceSession } = ${runtime}
  const create = async (...args) => {
    const session = await InferenceSession.create(...args)
    const run = (feeds) => feeds.ids.data.includes(${id}n) ? process.exit(7) : session.run(feeds)
    return { inputNames: session.inputNames, outputNames: session.outputNames, run }
  }
  return { env, Tensor, InferenceSession: { create } }`

/** A run time that never returns when it gets the word with this id. For the service it then stays in native code. */
export const runtimeThatHangsOn = (id: number): string => `
  const { env, Tensor, InferenceSession } = ${runtime}
  const create = async (...args) => {
    const session = await InferenceSession.create(...args)
    const run = (feeds) => feeds.ids.data.includes(${id}n) ? new Promise(() => {}) : session.run(feeds)
    return { inputNames: session.inputNames, outputNames: session.outputNames, run }
  }
  return { env, Tensor, InferenceSession: { create } }`

/** A run time whose model gives this instead of its logits. */
export const runtimeThatGives = (logits: string): string => `
  const { env, Tensor, InferenceSession } = ${runtime}
  const create = async (...args) => {
    const { inputNames, outputNames } = await InferenceSession.create(...args)
    return { inputNames, outputNames, run: async () => ${logits} }
  }
  return { env, Tensor, InferenceSession: { create } }`
