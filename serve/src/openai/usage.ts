import type { TextUsage } from '../http/text-run.js'

/** What a request took, in OpenAI's words. */
export function usageOf({ promptTokens, completionTokens, cachedTokens }: TextUsage): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  }
}
