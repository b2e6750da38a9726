import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import { docsRoutes } from '../../../src/http/docs/routes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const built = join(import.meta.dirname, '../../../docs/dist')

describe('documentation that was not built', () => {
  const opened = new AsyncDisposableStack()
  let folder = ''
  before(async () => void (folder = opened.use(await temporaryFolder()).path))
  after(() => opened.disposeAsync())

  const server = Fastify()
  before(() => {
    const routes = docsRoutes({ folder: pathToFileURL(`${folder}/`), port: 'api', publicUrl: undefined })
    for (const { method, path, handle } of routes)
      server.route({ method, url: path.replaceAll(/\{(\w+)\}/g, ':$1'), handler: handle })
  })
  after(() => server.close())

  it('is a page that says what to run, and why there is no other', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/guide/policies', '/docs/assets/style.css']) {
      const { statusCode, headers, body } = await server.inject(path)
      assert.deepEqual([statusCode, headers['content-type']], [503, 'text/html; charset=utf-8'])
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(body, /<h1>The documentation was not built<\/h1>.*<code>npm run build:docs<\/code>.*stamp\.json/s)
    }
  })

  it('names the reason if a build failed, as text', async () => {
    writeFileSync(join(folder, 'problem.txt'), 'docs/guide/policies.md has <no heading>')
    assert.match((await server.inject('/docs')).body, /docs\/guide\/policies\.md has &lt;no heading&gt;/)
  })

  it('is found without a restart once it is built', async () => {
    cpSync(built, folder, { recursive: true })
    const { statusCode, body } = await server.inject('/docs')
    assert.equal(statusCode, 200)
    assert.match(body, /<h1>Gatehouse API<\/h1>/)
  })
})
