import assert from 'node:assert/strict'
import { chownSync, existsSync, globSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { stringify } from 'yaml'
import { canMount } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerJson, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { buildImage, type BuiltImage } from './image-build.ts'
import { runIn, serveIn, unusedPort, type Container } from './image-container.ts'

const message = { role: 'assistant', content: 'Hello from the model' }
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const completion = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }

/** Runs what the image contains as `docker run --read-only --tmpfs /tmp` does, with a volume and a configuration file. */
async function containerOf(image: BuiltImage, upstream: TestUpstream, opened: AsyncDisposableStack) {
  const folder = opened.use(await temporaryFolder()).path
  const [data, temporary, config] = ['data', 'tmp', 'gatehouse.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const { uid, gid } = statSync(join(image.root, image.volume)) // a new volume belongs to the owner of the folder in the image
  for (const path of [data, temporary]) mkdirSync(path)
  chownSync(data, uid, gid)
  chownSync(temporary, image.user, image.user)
  const upstreams = [{ name: 'first', kind: 'openai-chat', base_url: `${upstream.url}/v1` }]
  writeFileSync(config, stringify({ upstreams, models: [{ name: 'm', targets: [{ upstream: 'first' }] }] }))
  const configPath = join(image.workingFolder, 'gatehouse.yaml')
  writeFileSync(join(image.root, configPath), '')
  const port = await unusedPort()
  const mounts = { ...image.mounts, [image.volume]: data, '/tmp': temporary, [configPath]: config }
  const environment = { ...image.environment, GATEHOUSE_PORT: String(port) }
  const container: Container = { ...image, isReadOnly: true, mounts, environment }
  return { container, url: `http://127.0.0.1:${port}`, data, temporary }
}

/** Prints whether the encoder has loaded its model. */
const openEncoder = `void (async () => {
  const { openEncoder } = await import('/app/dist/adapters/classifiers/encoder/encoder.js')
  const { systemClock } = await import('/app/dist/base/clock.js')
  const { encoder, problem } = await openEncoder({ clock: systemClock })
  console.log(JSON.stringify(problem ?? (await encoder.started())))
  await encoder?.[Symbol.asyncDispose]()
})()`

if (canMount()) {
  describe('the image, built and run without a container runtime', { timeout: 900_000 }, () => {
    const opened = new AsyncDisposableStack()
    let image: BuiltImage
    let upstream: TestUpstream
    let place: Awaited<ReturnType<typeof containerOf>>
    let server: Awaited<ReturnType<typeof serveIn>>

    before(async () => {
      const values = { FIRST_START_PORT: String(await unusedPort()) }
      image = opened.use(await buildImage('deploy/Dockerfile', values))
      upstream = opened.use(await startUpstream(answerJson(completion)))
      place = await containerOf(image, upstream, opened)
      server = opened.use(await serveIn(place.container, [...image.entryPoint, ...image.command]))
    })
    after(() => opened.disposeAsync())

    const post = (path: string, body: object): Promise<Response> =>
      fetch(place.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const question = { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }

    it('contains production packages, and neither sources, types nor development packages', () => {
      const files = globSync('**/*', { cwd: join(image.root, 'app') })
      for (const name of [
        'node_modules/fastify',
        'dist/main.js',
        'console/dist/index.html',
        'docs/dist/files.json',
        'migrations',
      ])
        assert.ok(files.includes(name), name)
      const unwanted = files.filter((file) =>
        /\.ts$|\.map$|^node_modules\/(?:typescript|vite|marked|oxlint|node)$/.test(file),
      )
      assert.deepEqual(unwanted, [])
    })

    if (existsSync('packages/moderation-encoder/model.onnx')) {
      it('contains the moderation encoder with its run time for one platform, and loads it', async () => {
        const platforms = globSync('app/node_modules/onnxruntime-node/bin/*/*/*', { cwd: image.root })
        assert.deepEqual(platforms, [`app/node_modules/onnxruntime-node/bin/napi-v6/linux/${process.arch}`])
        const [node = ''] = image.entryPoint
        assert.match(await runIn(place.container, [node, '--eval', openEncoder]), /"ready"/)
      })
    }

    it('runs on a root file system where not even root may write', async () => {
      const write = (path: string) => `require('node:fs').writeFileSync('${path}', '')`
      const [node = ''] = image.entryPoint
      for (const path of ['/app/file', '/etc/gatehouse/file', '/file'])
        await assert.rejects(runIn({ ...place.container, user: 0 }, [node, '--eval', write(path)]), /EROFS/, path)
    })

    it('is healthy by its health check, and has the command gatehouse for a shell-less exec', async () => {
      assert.equal(await runIn(place.container, image.healthCheck), 'ready\n')
      assert.match(await runIn(place.container, ['gatehouse', 'console', 'link']), /^http\S+\/console\//)
    })

    it('answers through an upstream, counts tokens, and serves the console and the documentation', async () => {
      const answer = await post('/v1/messages', question)
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /Hello from the model/)
      assert.equal((await post('/v1/messages/count_tokens', question)).status, 200)
      const page = await fetch(`${place.url}/console/`)
      assert.equal(page.status, 200)
      assert.match(await page.text(), /assets\/.*\.js/)
      assert.equal((await fetch(`${place.url}/docs`)).status, 200)
    })

    it('has a compile cache that its user can read and nobody can change', () => {
      const modes = globSync('app/compile-cache/*/*', { cwd: image.root }).map(
        (file) => statSync(join(image.root, file)).mode & 0o777,
      )
      assert.ok(modes.length > 500, String(modes.length))
      assert.deepEqual([...new Set(modes)], [0o444])
    })

    it('completes the answer in progress on SIGTERM and ends with 0, having written to its volume only', async () => {
      const arrived = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      upstream.answer(async (response, request) => {
        arrived.resolve()
        await released.promise
        await answerJson(completion)(response, request)
      })
      const answer = post('/v1/messages', question)
      await arrived.promise
      server.stop()
      await server.printed('Stopping')
      released.resolve()
      assert.match(await (await answer).text(), /Hello from the model/)
      const { code, output } = await server.ended()
      assert.equal(code, 0, output)
      assert.deepEqual(readdirSync(place.temporary), [])
      assert.ok(readdirSync(place.data).includes('gatehouse.db'))
    })
  })
}
