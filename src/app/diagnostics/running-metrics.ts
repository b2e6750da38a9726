import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Config } from '../../config/config.ts'
import { planListeners } from '../listen-addresses.ts'
import { askRunningServer } from '../client/running-server.ts'

const metricsTimeoutMs = 3_000

/** The text of `/metrics` of the server that runs on the data folder or that this configuration describes; undefined if none answers. */
export async function readRunningMetrics(config: Config): Promise<string | undefined> {
  return (await askRunningServer(config, '/metrics', metricsTimeoutMs)) ?? readPort(config)
}

function readPort({ server }: Config): Promise<string | undefined> {
  const listener = planListeners(server).find(({ purposes }) => purposes.has('metrics'))
  if (listener === undefined || listener.port === 0) return Promise.resolve(undefined)
  const { host, port, purposes } = listener
  const isSecure = server.tls !== undefined && (server.tls.metrics || purposes.size > 1)
  return new Promise((resolve) => {
    const none = (): void => resolve(undefined)
    // The certificate names the public host, not the address that the server listens on; the metrics hold no secrets.
    const options = { host, port, path: '/metrics', timeout: metricsTimeoutMs, rejectUnauthorized: false }
    const request = (isSecure ? requestHttps : requestHttp)(options, (response) => {
      const chunks: Buffer[] = []
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', none)
        .once('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined))
    })
    request
      .once('error', none)
      .once('timeout', () => request.destroy())
      .end()
  })
}
