import { onlineManager } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { serverUrl } from '../api/client.ts'

const pollMs = 2_000
/** A server that hangs counts as gone after this time. */
const timeoutMs = 2_000

/** When the server answered last, while it does not answer now. */
export type LostConnection = { readonly sinceMs: number }

/**
 * Asks the server every two seconds whether it is there, while the tab is visible. While it is not, queries wait, so that what was
 * loaded stays on the page. They are sent again when it is back.
 */
export function useLostConnection(): LostConnection | undefined {
  const [lost, setLost] = useState<LostConnection>()
  useEffect(() => {
    let lastAnswerMs = Date.now()
    let isEnded = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = async (): Promise<void> => {
      const isThere = document.visibilityState === 'hidden' || (await isReachable())
      if (isEnded) return
      if (isThere) lastAnswerMs = Date.now()
      onlineManager.setOnline(isThere)
      setLost(isThere ? undefined : (known) => known ?? { sinceMs: lastAnswerMs })
      timer = setTimeout(() => void check(), pollMs)
    }
    timer = setTimeout(() => void check(), pollMs)
    return () => {
      isEnded = true
      clearTimeout(timer)
      onlineManager.setOnline(true)
    }
  }, [])
  return lost
}

/** A proxy in front of a server that is gone answers with an error of its own. */
async function isReachable(): Promise<boolean> {
  try {
    const options = { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(timeoutMs) } as const
    return (await fetch(`${serverUrl}/health/live`, options)).status < 500
  } catch {
    return false
  }
}
