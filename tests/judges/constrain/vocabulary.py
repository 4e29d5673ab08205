"""A vocabulary as constrain_judge reads it, for Python and for llguidance."""
import base64


class Vocabulary:
    """The tokens of a file of tiktoken: a token a line, in base64. The end of a text is one more."""

    def __init__(self, path):
        self.tokens = [base64.b64decode(line.split()[0]) for line in open(path, "rb") if line.strip()]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.end = len(self.tokens)
        self.longest = max(map(len, self.tokens))

    def encode(self, text):
        """The ids of a text, or of its bytes: the longest token that fits, again and again."""
        text = text.encode() if isinstance(text, str) else text
        ids, begin = [], 0
        while begin < len(text):
            for size in range(min(self.longest, len(text) - begin), 0, -1):
                token = self.ids.get(text[begin:begin + size])
                if token is not None:
                    break
            else:
                raise ValueError("the vocabulary cannot spell byte %d" % text[begin])
            ids.append(token)
            begin += size
        return ids

    def for_llguidance(self):
        """An llguidance.LLTokenizer."""
        import llguidance

        vocabulary = self

        class Wrapper:
            eos_token_id = vocabulary.end
            bos_token_id = None
            tokens = vocabulary.tokens + [b"<|end|>"]
            special_token_ids = [vocabulary.end]

            def __call__(self, text):
                return vocabulary.encode(text)

        return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Wrapper()), n_vocab=self.end + 1)
