const tooManyRequests = 429
const attempts = 3
const longestWaitSeconds = 60

/**
 * Sends a request again after the wait that the server asks for, if it was over the limit. The server did nothing for a request
 * that it answered so, so that also a change can be sent again. Ends early when the request is cancelled.
 */
export async function fetchWithinLimits(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone())
    const seconds = Number(response.headers.get('retry-after') ?? 'none')
    const mayRetry = response.status === tooManyRequests && attempt < attempts && seconds <= longestWaitSeconds
    if (!mayRetry) return response
    await wait(seconds * 1_000, request.signal)
  }
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
