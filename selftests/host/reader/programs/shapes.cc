// SPDX-License-Identifier: BSD-2-Clause
namespace shape {
template <class T> struct Box {
	__attribute__((noinline)) T area(T w, int h) { return w * h; }
};
}

int main(int argc, char **)
{
	shape::Box<double> box;

	return (int)box.area(argc, 3);
}
