import { useEffect, useRef, useState } from 'react'
import { serverUrl } from './client.ts'

/** A stream of server-sent events of the API. */
type Stream = {
  /** With its query; tabs with the same address share one connection. */
  readonly path: string
  /** The name of the events. */
  readonly event: string
  /** Whether `after=` continues the stream after the id of its last event. */
  readonly canContinue?: boolean
}

type Message = { readonly id: string; readonly data: string }

const retryMs = 3_000
/** A stream that is replaced sooner is not opened. The server counts a closed one for a second or two more. */
const settleMs = 500

/** Calls `onData` for each event while the tab is visible. The tabs of a browser have one connection for each stream. */
export function useLive({ path, event, canContinue = false }: Stream, onData: (data: unknown) => void): void {
  const latest = useRef(onData)
  latest.current = onData
  const isVisible = useIsVisible()
  const lastId = useRef<{ path: string; id: string }>(undefined)
  const changedAtMs = useRef(-Infinity)
  useEffect(() => {
    if (!isVisible) return undefined
    const isReplaced = performance.now() - changedAtMs.current < settleMs
    changedAtMs.current = performance.now()
    const receive = ({ id, data }: Message): void => {
      if (id !== '') lastId.current = { path, id }
      latest.current(JSON.parse(data))
    }
    const address = (): string => {
      const id = lastId.current?.path === path ? lastId.current.id : ''
      if (!canContinue || id === '') return serverUrl + path
      return `${serverUrl}${path}${path.includes('?') ? '&' : '?'}after=${id}`
    }
    let leave: (() => void) | undefined
    const open = (): void => {
      leave = subscribe({ path, event, address, receive })
    }
    const timer = setTimeout(open, isReplaced ? settleMs : 0)
    return () => {
      clearTimeout(timer)
      leave?.()
    }
  }, [path, event, canContinue, isVisible])
}

type Subscription = {
  readonly path: string
  readonly event: string
  readonly address: () => string
  readonly receive: (message: Message) => void
}

/**
 * The tab that holds the lock has the connection, and passes events on to the others. When it closes or is hidden, the browser
 * gives the lock to the next. A browser has only six connections to a server, and each stream costs the server a query a second.
 */
function subscribe({ path, event, address, receive }: Subscription): () => void {
  const name = `gatehouse ${serverUrl}${path}`
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => receive(data))
  const leaving = new AbortController()
  const lead = (): Promise<void> =>
    new Promise((resolve) => {
      // The page may leave between the grant of the lock and this call, and then no event of the signal follows.
      if (leaving.signal.aborted) return resolve()
      const pass = (message: Message): void => {
        receive(message)
        channel.postMessage(message)
      }
      const close = connect(event, address, pass)
      leaving.signal.addEventListener('abort', () => {
        close()
        resolve()
      })
    })
  // Rejected if the tab leaves before it gets the lock.
  navigator.locks.request(name, { signal: leaving.signal }, lead).catch(() => undefined)
  return () => {
    leaving.abort()
    channel.close()
  }
}

/** The browser connects again after an interruption, but not after a response with an error. */
function connect(event: string, address: () => string, pass: (message: Message) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let source = open()
  function open(): EventSource {
    const opened = new EventSource(address())
    opened.addEventListener(event, ({ lastEventId, data }: MessageEvent<string>) => pass({ id: lastEventId, data }))
    opened.addEventListener('error', () => {
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(() => (source = open()), retryMs)
    })
    return opened
  }
  return () => {
    clearTimeout(timer)
    source.close()
  }
}

function useIsVisible(): boolean {
  const [isVisible, setVisible] = useState(() => document.visibilityState === 'visible')
  useEffect(() => {
    const update = (): void => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}
