// SPDX-License-Identifier: BSD-2-Clause
/* Templates, lambdas and a library made of inlines; nobody runs it. */
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shop {
template <class T, int N> struct ring {
	T item[N];
	int at = 0;

	void put(const T &v) { item[at++ % N] = v; }
	T &operator[](int i) { return item[(at + i) % N]; }
};

struct counter {
	std::map<std::string, int> n;

	int add(const std::string &s) { return ++n[s]; }
};

struct by_size {
	bool operator()(const std::string &a, const std::string &b) const
	{
		return a.size() < b.size() || a < b;
	}
};

__attribute__((noinline)) std::vector<std::string> words(const char *s)
{
	std::vector<std::string> out;
	ring<char, 8> r;

	for (; *s; s++) {
		r.put(*s);
		if (r[0] == ' ')
			out.emplace_back(s, 3);
		else
			out.push_back(std::string(1, *s));
	}
#ifdef LAMBDA
	std::sort(out.begin(), out.end(),
		  [](const std::string &a, const std::string &b) {
			  return a.size() < b.size() || a < b;
		  });
#else
	std::sort(out.begin(), out.end(), by_size());
#endif
	return out;
}
}

int main(int argc, char **argv)
{
	struct local {
		std::unique_ptr<int> p;

		explicit local(int v) : p(new int(v)) {}
		int get() const { return *p; }
	};
	shop::counter c;
	int total = 0;

	for (int i = 0; i < argc; i++)
		for (const auto &w : shop::words(argv[i]))
			total += c.add(w) + local(i).get();
	return total;
}
