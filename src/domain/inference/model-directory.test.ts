import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { createCatalogue, type Model } from './catalogue.ts'
import { createModelDirectory, createUpstreamLists } from './model-directory.ts'
import type { ListedModel, Provider } from './provider.ts'

const model = (name: string, upstream: string, upstreamName = name): Model => ({
  name,
  targets: [{ upstream, model: upstreamName }],
  contextTokens: 200_000,
  maxOutputTokens: 100,
  capsOutput: false,
  price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  freeTier: false,
  createdAtMs: 0,
})

/** Upstreams whose list can be changed, or made to fail or hang. */
function createScene(entries: readonly Model[]) {
  const { clock, pass } = createHandClock()
  const lists = new Map<string, readonly ListedModel[] | Error | 'hangs'>()
  const requests: string[] = []
  const failed: string[] = []
  const providerOf = (name: string): Provider => ({
    name,
    passthroughFor: 'chat',
    infer: () => assert.fail('no inference'),
    async listModels(signal) {
      requests.push(name)
      const list = lists.get(name) ?? []
      if (list === 'hangs') {
        await once(signal, 'abort')
        signal.throwIfAborted()
      }
      if (list instanceof Error) throw list
      return list === 'hangs' ? [] : list
    },
  })
  const upstreams = new Set(entries.flatMap(({ targets }) => targets.map(({ upstream }) => upstream)))
  const directory = createModelDirectory({
    catalogue: createCatalogue(entries),
    lists: createUpstreamLists({
      providers: new Map([...upstreams].map((name) => [name, providerOf(name)])),
      clock,
      onFailedList: (upstream) => void failed.push(upstream),
    }),
  })
  const names = async () => (await directory.list()).map(({ name }) => name)
  return { directory, pass, lists, requests, failed, names }
}

describe('the list of models', () => {
  it('has the models of an upstream that match a pattern, after the models with a name', async () => {
    const scene = createScene([model('llama*', 'local'), model('mine', 'local', 'x')])
    scene.lists.set('local', [{ name: 'llama3.1:8b' }, { name: 'qwen3' }])
    assert.deepEqual(await scene.names(), ['mine', 'llama3.1:8b'])
  })

  it('leaves out a model that requests under its name would not reach', async () => {
    const scene = createScene([model('*', 'local'), model('gpt-*', 'vendor')])
    scene.lists.set('local', [{ name: 'gpt-oss:20b' }, { name: 'qwen3' }])
    scene.lists.set('vendor', [{ name: 'gpt-5' }, { name: 'whisper-1' }])
    assert.deepEqual((await scene.names()).toSorted(), ['gpt-5', 'qwen3'])
  })

  it('has the context window that the upstream reports, if it is smaller', async () => {
    const scene = createScene([model('*', 'local')])
    scene.lists.set('local', [{ name: 'a', contextTokens: 4096 }, { name: 'b' }])
    const windows = (await scene.directory.list()).map(({ contextTokens }) => contextTokens)
    assert.deepEqual(windows, [4096, 200_000])
  })

  it('is kept for a while, and requested once for callers that wait together', async () => {
    const scene = createScene([model('a*', 'local'), model('b*', 'local')])
    await Promise.all([scene.names(), scene.names()])
    await scene.names()
    assert.deepEqual(scene.requests, ['local'])
    await scene.pass(30_000)
    await scene.names()
    assert.deepEqual(scene.requests, ['local', 'local'])
  })

  it('is the last known one if the upstream fails, which is reported', async () => {
    const scene = createScene([model('*', 'local')])
    scene.lists.set('local', [{ name: 'a' }])
    await scene.names()
    scene.lists.set('local', new Error('down'))
    await scene.pass(30_000)
    assert.deepEqual(await scene.names(), ['a'])
    assert.deepEqual(scene.failed, ['local'])
  })

  it('does not wait longer than two seconds for an upstream that hangs', async () => {
    const scene = createScene([model('*', 'local'), model('named', 'local', 'x')])
    scene.lists.set('local', 'hangs')
    const listing = scene.names()
    await scene.pass(2_000)
    assert.deepEqual(await listing, ['named'])
    assert.deepEqual(scene.failed, ['local'])
  })

  it('asks no upstream if every model has a name', async () => {
    const scene = createScene([model('a', 'local')])
    assert.deepEqual(await scene.names(), ['a'])
    assert.deepEqual(scene.requests, [])
  })
})

describe('one model', () => {
  it('exists if the upstream of its pattern lists it, with or without the tag `latest`', async () => {
    const scene = createScene([model('*', 'local')])
    scene.lists.set('local', [{ name: 'a' }, { name: 'b:latest' }])
    assert.equal((await scene.directory.find('a'))?.name, 'a')
    assert.equal((await scene.directory.find('b'))?.name, 'b')
    assert.equal(await scene.directory.find('c'), undefined)
  })

  it('exists if the upstream cannot be asked, because a request may still succeed', async () => {
    const scene = createScene([model('*', 'local')])
    scene.lists.set('local', new Error('down'))
    assert.equal((await scene.directory.find('c'))?.name, 'c')
  })

  it('exists if its entry sends every name to one model', async () => {
    const scene = createScene([model('claude-*', 'local', 'qwen3')])
    assert.equal((await scene.directory.find('claude-x'))?.targets[0]?.model, 'qwen3')
  })
})
