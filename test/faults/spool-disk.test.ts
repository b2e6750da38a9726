import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createFastClock } from '../support/fast-clock.ts'
import { answerWith, question, startPaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { canMount, fillUp, mountSmallDisk } from '../support/small-disk.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { operatorOf } from '../support/operator.ts'

if (canMount())
  it(
    'a full spool disk is degraded while PostgreSQL answers, and refuses before the upstream while it does not',
    {
      skip: withoutPostgres,
    },
    async () => {
      await using disk = await mountSmallDisk()
      await using database = await createScratchDatabase()
      const url = new URL(database.url)
      await using proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
      url.port = String(proxy.port)
      await using scene = await startPaidApp({
        config: { secret: 'a secret of sixteen and more' },
        storage: { database_url: url.href, data_dir: disk.path },
        clock: createFastClock(20),
      })
      scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
      const send = async (): Promise<number> => (await scene.app.post('/v1/messages', question)).status
      const untilReady = async (expected: RegExp): Promise<void> => {
        for (;;) {
          const answer = await scene.app.get('/health/ready')
          if (expected.test(`${answer.status} ${await answer.text()}`)) return
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      assert.equal(await send(), 200)
      await untilReady(/^200 \{"status":"ready"\}$/)

      const ballast = join(disk.path, 'ballast')
      fillUp(ballast)
      await untilReady(/^200 .*"degraded":\[\{"part":"disk"/)
      assert.equal(await send(), 200)

      proxy.shut()
      await untilReady(/^503 .*"failing":\[\{"part":"storage".*"part":"disk"/)
      const calls = scene.upstream.requests.length
      assert.equal(await send(), 503)
      assert.equal(scene.upstream.requests.length, calls)

      rmSync(ballast)
      await untilReady(/^200 .*"degraded":\[\{"part":"storage"[^\]]*\]/)
      assert.equal(await send(), 200)

      proxy.open()
      await untilReady(/^200 \{"status":"ready"\}$/)
      assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
    },
  )
