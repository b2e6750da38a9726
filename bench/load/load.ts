import { connect } from 'node:net'

/**
 * A load generator over raw sockets, so that it costs far less than the server. `node load.ts PORT CONNECTIONS SECONDS
 * PER_SECOND` with the request's bytes on standard input; prints one JSON line. With a rate of 0 each connection sends its next
 * request immediately. Otherwise requests are due at even intervals, and the latency counts from the time a request is due.
 */
const [port = 0, connections = 1, seconds = 1, perSecond = 0] = process.argv.slice(2).map(Number)
const request = Buffer.concat(await Array.fromAsync(process.stdin))
const beginAtMs = performance.now()
const endAtMs = beginAtMs + seconds * 1000
let begun = 0
let requests = 0
let failures = 0
const latenciesMs: number[] = []

await Promise.all(Array.from({ length: connections }, () => drive()))
latenciesMs.sort((a, b) => a - b)
const at = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0
process.stdout.write(`${JSON.stringify({ requests, failures, p50Ms: at(0.5), p99Ms: at(0.99) })}\n`)

function drive(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    let startedMs = 0
    const sendNext = (): void => {
      const nowMs = performance.now()
      const dueMs = perSecond === 0 ? nowMs : beginAtMs + (begun++ * 1000) / perSecond
      if (Math.max(nowMs, dueMs) >= endAtMs) return void socket.destroy()
      if (dueMs <= nowMs) send(dueMs)
      else setTimeout(() => send(performance.now()), dueMs - nowMs) // timers are coarse, so the latency starts when the request is sent
    }
    const send = (fromMs: number): void => {
      startedMs = fromMs
      answer = ''
      socket.write(request)
    }
    socket.setNoDelay(true)
    socket.on('connect', sendNext)
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      if (!isWhole(answer)) return
      requests++
      if (!answer.startsWith('HTTP/1.1 200')) failures++
      latenciesMs.push(performance.now() - startedMs)
      sendNext()
    })
    socket.on('error', () => failures++)
    socket.on('close', () => resolve())
  })
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /content-length: (\d+)/i.exec(answer.slice(0, headEnd))?.[1]
  return length === undefined ? answer.endsWith('0\r\n\r\n') : answer.length >= headEnd + 4 + Number(length)
}
