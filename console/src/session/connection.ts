import { onlineManager } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { serverUrl } from '../api/client.ts'

const pollMs = 2_000
/** A server that does not answer for this time is reported. */
const timeoutMs = 2_500

/** When the server answered last, while it does not answer now. */
export type LostConnection = { readonly sinceMs: number }

/**
 * Asks the server every two seconds whether it is there, while the tab is visible. While nothing can be sent to it, queries wait, so
 * that what was loaded stays on the page. They are sent again when it is back. A slow connection does not stop them.
 */
export function useLostConnection(): LostConnection | undefined {
  const [lost, setLost] = useState<LostConnection>()
  useEffect(() => {
    let lastAnswerMs = Date.now()
    let isEnded = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = async (): Promise<void> => {
      const state = document.visibilityState === 'hidden' ? 'there' : await ask()
      if (isEnded) return
      if (state === 'there') lastAnswerMs = Date.now()
      onlineManager.setOnline(state !== 'gone')
      setLost(state === 'there' ? undefined : (known) => known ?? { sinceMs: lastAnswerMs })
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

async function ask(): Promise<'there' | 'late' | 'gone'> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const { status } = await fetch(`${serverUrl}/health/live`, { cache: 'no-store', credentials: 'omit', signal })
    // A proxy in front of a server that is gone answers with an error of its own.
    return status < 500 ? 'there' : 'gone'
  } catch {
    return signal.aborted ? 'late' : 'gone'
  }
}
